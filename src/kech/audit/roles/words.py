"""Words: what names of columns mean, in English, German, French, Spanish, Italian, Dutch and Portuguese.

A phrase is written with `_` between its words; names match it with or without them. A word behind `~` is weak: it
means this only where nothing else in the name says more.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a column holds, and the role that such columns have."""

    says: str
    role: str
    words: str


ADDRESSES = "addresses"
CLASS_OR_ROOM = "a class of passengers, a seat or a room"
MONEY = "money"
NAME = "names of people"
PLACE = "a place"
PLACE_OF_LIFE = "where somebody works, learns or is treated"
NET = "addresses of the net, or devices"
NUMBER = "numbers of people or of rows"
TIME_AT_WORK = "rank or time at work"
TIME_TO_EVENT = "how long it took until something happened"
TEXT = "free text, which can name anybody"
OUTCOME = "an outcome"
THINGS = "numbers of things that one person has"
PAID_EVENTS = """
    claim claims clm deposit withdrawal arrears overdue chargeoff foreclosure schade schadebedrag sinistro sinistri
    indemnisation indemnizacion indennizzo reclamacion
"""  # events that often stand for what was paid or lost
MAY_BE_AMOUNTS = frozenset(PAID_EVENTS.split())
SHARED_BY_MANY = (ADDRESSES, TEXT, THINGS)  # identifiers that different people have in common

IDENTIFIERS = (
    Meaning(
        NAME,
        "identifier",
        """~name ~names surname lastname last_name firstname first_name ~first ~last fname lname given_name givenname
        family_name forename middle_name maiden_name full_name fullname nickname username user_name ~login
        initials signature contact_name emergency_contact next_of_kin ~alias screen_name passenger_name
        patient_name vorname vornamen nachname familienname rufname geburtsname zuname name_vorname ~nom
        prenom prenoms nom_de_famille nom_famille nom_naissance nom_usuel ~nombre nombres apellido apellidos
        primer_apellido segundo_apellido nombre_completo ~nome cognome nome_cognome nominativo sobrenome
        apelido nome_proprio nome_completo nome_mae voornaam voornamen achternaam familienaam tussenvoegsel
        roepnaam ~naam ~mieter ~mieterin""",
    ),
    Meaning(
        "e-mail addresses",
        "identifier",
        """email e_mail emails ~mail email_address mailadresse emailadresse courriel correo correo_electronico
        posta_elettronica mailadres""",
    ),
    Meaning(
        "telephone numbers",
        "identifier",
        """phone telephone ~tel mobile_phone ~mobile cellphone cell_phone phone_number fax telefon telefonnummer handy
        handynummer mobilnummer rufnummer telephone_portable telefono movil celular cellulare telefoon
        telefoonnummer ~gsm telefone telemovel whatsapp""",
    ),
    Meaning(
        ADDRESSES,
        "identifier",
        """address street street_address addr street_name house_number house_no apartment_number mailing_address
        strasse strassenname hausnummer anschrift adresse ~rue numero_rue calle direccion
        ~via indirizzo numero_civico straat straatnaam huisnummer adres ~rua morada endereco logradouro""",
    ),
    Meaning(
        "official numbers of people",
        "identifier",
        """ssn social_security social_security_number passport passport_number drivers_license driver_license
        license_number licence_number national_id tax_id nhs_number nino national_insurance medicare_number
        aadhaar personalausweis ausweisnummer reisepass steuernummer steuer_id sozialversicherungsnummer
        svnr kvnr krankenversichertennummer nir numero_securite_sociale numero_secu ~dni ~nie nif pasaporte
        nuss codice_fiscale tessera_sanitaria bsn burgerservicenummer rijksregisternummer ~cpf
        cartao_cidadao niss numero_identificacao""",
    ),
    Meaning(
        "accounts and cards",
        "identifier",
        """iban bic account_number ~account ~card ~pin bank_account kontonummer ~konto bankverbindung credit_card_number
        card_number cc_num ccnum kartennummer cuenta_bancaria numero_cuenta conto_corrente rekeningnummer
        numero_conta compte_bancaire numero_compte""",
    ),
    Meaning(
        NET,
        "identifier",
        """ip ip_address ipaddress ~mac mac_address imei imsi device_id cookie cookie_id session_id user_agent url
        website homepage twitter facebook instagram linkedin advertising_id""",
    ),
    Meaning(
        THINGS,
        "identifier",
        """license_plate licence_plate number_plate plate plates vehicle_registration kfz_kennzeichen
        nummernschild autokennzeichen vin matricula_coche targa
        kenteken immatriculation ticket ticket_number ticket_no booking_reference barcode serial_number""",
    ),
    Meaning("pictures or prints of people", "identifier", "photo photograph ~picture foto fingerprint voiceprint"),
    Meaning(
        TEXT,
        "identifier",
        """comment comments notes remark remarks narrative free_text freetext ~description ~text clinical_notes
        bemerkung bemerkungen kommentar kommentare notiz notizen anmerkung freitext commentaire commentaires
        remarque observaciones notas comentario comentarios commento commenti osservazioni opmerking
        opmerkingen toelichting observacoes ~feedback ~message""",
    ),
    Meaning(
        NUMBER,
        "identifier",
        """id ids ident identifier identifiant identificador identificativo uuid guid pseudonym hash seqn seqno
        serialno caseid case_id casenum ~index ~rownames row_id row_number unnamed ~unnamed_0 record_id
        sequence_number respid respnum idp idnum idcode idno idnr hhid hhnr persnr pidp lfdnr laufende_nummer
        aktenzeichen fallnummer fall_nr patientennr numero_dossier matricule expediente legajo matricola dossiernummer
        volgnummer processo""",
    ),
)

QUASI_IDENTIFIERS = (
    Meaning(
        "age",
        "quasi-identifier",
        """age ages agep age_years age_group agegroup age_grp agegrp age_cat agecat age_band age_bracket age_range
        agecategory age_category ageyrs age_yrs age_months ridageyr ridagemn ageg5yr age5yr age_recode
        agerec ager alter altersgruppe lebensalter altersklasse alterskategorie edad grupo_edad grupo_etario
        edades ~eta fascia_eta classe_eta fascia_di_eta leeftijd leeftijdsgroep leeftijdscategorie
        leeftijdsklasse idade faixa_etaria grupo_etario_anos tranche_age tranche_d_age classe_age over18
        over_18 adult ~child ~minor ~senior senior_citizen""",
    ),
    Meaning(
        "birth",
        "quasi-identifier",
        """dob birth birthdate birth_date date_of_birth birthday bdate birth_year birthyear year_of_birth yob
        birth_month born birthmonth yearborn year_born byear bmonth bday birth_day birth_order birth_cohort
        geburt geburts geburtsdatum geburtsjahr geburtstag gebdat gebdatum gebjahr geb_datum geb_jahr geboren
        naissance date_naissance datenaiss date_de_naissance annee_naissance ddn ~ne_le
        nacimiento fecha_nacimiento fecha_nac fnac ano_nacimiento fecha_de_nacimiento
        nascita data_nascita data_di_nascita anno_nascita
        geboorte geboortedatum geboortejaar geboortedag
        nascimento data_nascimento data_de_nascimento ano_nascimento dt_nasc dtnasc""",
    ),
    Meaning(
        "sex",
        "quasi-identifier",
        """sex gender male female fml femal ~man ~woman is_male is_female ~men ~women msex riagendr sex1 sexvar sexp
        gndr geschlecht geschl anrede salutation sexe ~genre civilite sexo genero sesso genere geslacht gesl""",
    ),
    Meaning(
        "race or origin",
        "quasi-identifier",
        """race races ethnicity ethnic eth ethrace ethnic_group ethnic_origin race_ethnicity raceth ethgrp black ~white
        asian hispanic hispan hisp latino latina latinx african_american caucasian nonwhite minority ~origin
        ancestry tribe caste indigenous aboriginal rac1p rac2p rac3p ridreth1 ridreth3 prdtrace racem racehisp
        skin_color skin_colour herkunft ethnie ethnische abstammung migrationshintergrund migback origine
        origine_ethnique raza etnia razza etniciteit afkomst migratieachtergrond raca ~cor raca_cor anc1p anc2p
        afam african_am afro nonblack nonhispanic non_hispanic ethn ethnic_minority visible_minority first_nation
        native_american pacific_islander mixed_race raceeth race_eth skin_tone""",
    ),
    Meaning(
        "postcode",
        "quasi-identifier",
        """zip zipcode zip_code zip5 zip3 zcta postcode post_code postal_code postalcode postal pcode plz postleitzahl
        code_postal codepostal ~cp codigo_postal codice_postale ~cap ~cep pin_code pincode eircode
        postnummer postnr post_nr pc4 pc6 kod_pocztowy ~psc ~npa""",
    ),
    Meaning(
        PLACE,
        "quasi-identifier",
        """city town village county ~state province ~district region municipality commune borough neighborhood
        neighbourhood suburb ~location ~place residence ~area metro metropolitan msa cbsa puma tract
        census_tract fips block_group precinct parish hometown home_town ~division ~territory ~zone urban
        rural urban_rural urbanicity residence_type residency ~site st_fips statefip countyfips gestfips
        powpuma migpuma ~st stadt ~ort wohnort wohnsitz bundesl gemeinde landkreis ~kreis bundesland bezirk
        stadtteil ortsteil ville departement ~dept arrondissement lieu_residence residence_principale ciudad
        municipio provincia comunidad_autonoma localidad barrio ~estado residencia ccaa citta comune regione
        localita quartiere residenza ~stad woonplaats ~plaats gemeente provincie wijk buurt woongemeente
        cidade concelho distrito freguesia bairro ~uf localidade embarked embark_town port_of_embarkation
        ~port
        canton ~dep ~dpt iris_code epci commune_insee code_insee insee bassin_de_vie
        unite_urbaine entidad entidad_federativa departamento comuna colonia alcaldia parroquia
        corregimiento seccion_censal ~comunidad prov reg_residenza asl nuts nuts1 nuts2 nuts3 ags gemeindeschluessel
        kreisschluessel regierungsbezirk wohnviertel stadsdeel stadtbezirk ~regio unidade_federativa
        municipio_residencia estado_residencia subdistrito microrregiao lsoa msoa oslaua local_authority ward_code
        postcode_district census_block density_class urban_area rural_area ~locality
        ~south ~north ~west ~east southern northern western eastern midwest northeast northwest southeast southwest
        big_city bigcity small_city large_city smallcity city_size town_size community_size inner_city smsa non_metro
        ~capital_city rural_urban_continuum statabb stateabb state_abb state_code state_name""",
    ),
    Meaning(
        "how far somebody lives",
        "quasi-identifier",
        "distance_from_home home_distance",
    ),
    Meaning(
        "coordinates",
        "quasi-identifier",
        """latitude longitude ~lat ~lon ~lng ~long coordinates coords geolocation geopoint gps easting northing
        breitengrad laengengrad langengrad latitud longitud latitudine longitudine breedtegraad lengtegraad""",
    ),
    Meaning(
        "a country or nationality",
        "quasi-identifier",
        """country ~nation nationality citizenship citizen native_country country_of_birth birth_country birthplace
        birth_place place_of_birth pob pobp bpl nativity immigrant immigration foreign foreign_born
        foreigner ~native country_of_origin dmdborn4 ~cit citwp staatsangehorigkeit staatsangehoerigkeit
        staatsburgerschaft nationalitat nationalitaet herkunftsland geburtsort geburtsland wohnland ~land
        ~pays nationalite pays_naissance pays_de_naissance lieu_naissance lieu_de_naissance ~pais
        nacionalidad lugar_nacimiento pais_nacimiento paese nazione nazionalita cittadinanza luogo_nascita
        luogo_di_nascita nationaliteit geboorteland geboorteplaats nacionalidade naturalidade pais_origem
        immigre nation_naiss inmigrante immigrato migrant migratie imigrante auslaender auslander
        foreign_national nationalite_detail indicateur_nationalite lieu_de_residence_anterieur""",
    ),
    Meaning(
        "language",
        "quasi-identifier",
        """language languages mother_tongue native_language first_language lanx lanp ~lang sprache sprachen
        muttersprache langue langue_maternelle idioma lengua lengua_materna lingua lingua_materna taal
        moedertaal accent""",
    ),
    Meaning(
        "marital status",
        "quasi-identifier",
        """marital marital_status maritalstat marstat marst ~mar married marriage spouse ~partner divorced
        widowed separated ~single civil_status personal_status relationship cohabiting dmdmartl msp relp relshipp
        familienstand famstd famstand zivilstand verheiratet situation_matrimoniale etat_civil
        situation_familiale estado_civil stato_civile burgerlijke_staat burgerlijke ~relation
         conjugal conjoint statut_conjugal vie_en_couple couple matrimonial pareja casado casada
        soltero coniuge coniugato echtgenoot partnerschap samenwonend conjuge lebenspartner ehestand ledig
        geschieden divorce single_parent alleinerziehend""",
    ),
    Meaning(
        "education",
        "quasi-identifier",
        """education educ edu yedu yeduc educa schooling degree ~degrees school_years education_level education_num
        educationnum education_field highest_qualification qualification qualifications graduate college highschool
        high_school studies ~major field_of_study schl schg educd educ99 educdec dmdeduc2 dmdeduc3 medu fedu
        yearsofeducation years_of_education yrs_educ nodegree no_degree hsgrad ~diploma isced bildung
        bildungsabschluss bildungsstand bilzeit schulabschluss ~abschluss ausbildung schulbildung niveau_etudes
        niveau_d_etudes diplome etudes ~estudios nivel_estudios nivel_educativo educacion ~formacion
        titulacion titolo_studio titolo_di_studio istruzione livello_istruzione opleiding opleidingsniveau
        onderwijs escolaridade escolaridad habilitacoes grau_instrucao grau_de_instrucao nivel_instrucao
        educacao
         diplome_obtenu niveau_diplome hochster_abschluss hoechster_abschluss akademischer_grad studienfach
        studiengang ultimo_grado grado_estudios anos_estudio laurea diploma_scuola hoogste_opleiding grau_escolaridade
        anos_estudo educlevel educ_level highest_grade hgc
        literacy literate""",
    ),
    Meaning(
        "work",
        "quasi-identifier",
        """jobclass job_class time_to_work commute commuting ~contract contract_type contrat contrato contratto
        contractsoort vertragsart arbeitsvertrag ~vertrag
        occupation occup indust ind_code job jobs job_title jobtitle job_role jobrole profession ~work workclass
        work_class work_type worktype employment employed employment_status employment_type employer industry sector
        ~department ~dept_name ~position ~role self_employed selfemployed unemployed retired class_of_worker
        occp occp10 indp naicsp socp cow esr employ1 empstat labor_force lfstat job_category job_family ~title
        ~designation bluecol ~occ ~ind manager beruf berufsgruppe tatigkeit taetigkeit branche abteilung
        erwerbsstatus erwstat erwerbstatigkeit stellung berufsstatus metier emploi ~csp pcs
        categorie_socioprofessionnelle ~secteur ~poste situation_professionnelle ocupacion profesion empleo
        trabajo puesto situacion_laboral ~cargo professione occupazione lavoro mestiere impiego settore
        condizione_professionale beroep ~functie beroepsgroep werkstatus dienstverband profissao ocupacao
        emprego trabalho setor situacao_profissional csp_code type_activite activite statut_emploi temps_partiel
        beruf_isco isco isco08 soc_code nace beschaftigung beschaeftigung
        vollzeit teilzeit full_time part_time contract_type""",
    ),
    Meaning(
        TIME_AT_WORK,
        "quasi-identifier",
        """job_level joblevel seniority years_at_company total_working_years ~rank years_on_job years_of_service
        service_years years_employed job_tenure company_tenure betriebszugehorigkeit betriebszugehoerigkeit
        dienstjahre dienstalter anciennete antiguedad anzianita dienstjaren antiguidade experience exper
        work_experience years_of_experience yrs_exp yoe tenure ~expr potential_experience berufserfahrung
        berufsjahre experience_professionnelle experiencia experiencia_laboral esperienza werkervaring
        experiencia_profissional pay_grade paygrade salary_grade career_years
        arbeitszeit beschaeftigungsgrad uberstunden ueberstunden overtime_hours heures_supplementaires
        horas_extra overuren""",
    ),
    Meaning(
        PLACE_OF_LIFE,
        "quasi-identifier",
        """hospital school clinic ~ward facility university employer_name company company_name ~firm
        ~organisation ~organization ~institution ~provider schule klinik krankenhaus hochschule universitat
        arbeitgeber ~firma ~station hopital ecole universite entreprise etablissement ~escuela colegio empresa
        universidad ospedale scuola ~azienda ateneo ziekenhuis ~bedrijf universiteit ~escola universidade""",
    ),
    Meaning(
        "the household",
        "quasi-identifier",
        """household_size householdsize family_size familysize hh_size hhsize hhsz num_children numchildren children
        kids n_children nchild nkids nkinder dependents dependants num_dependents number_of_dependents siblings sibsp
        parch household_type family_type num_persons persons famsize pstatus guardian kidslt6 kidsge6 fam_size lfam
        household_members family_members has_children youngkids dmdhhsiz dmdfmsiz ~family fchild haushaltsgrosse
        haushaltsgroesse kinder kinderzahl anzahl_kinder haushaltstyp personen_im_haushalt enfants nb_enfants
        nombre_enfants nombre_d_enfants taille_menage taille_foyer hijos num_hijos numero_hijos tamano_hogar figli
        num_figli numero_figli componenti_nucleo kinderen aantal_kinderen huishoudgrootte filhos num_filhos
        numero_filhos agregado_familiar ~cohab young_kids old_kids oldkids small_children toddlers num_kids n_kids
        hhmembers household_head ~livch living_children persons_in_household numpeople people_in_household people_count
        only_child firstborn first_born ~twin plurality""",
    ),
    Meaning(
        "the body",
        "quasi-identifier",
        """height weight hgt wgt stature height_cm weight_kg body_weight eye_color eye_colour hair_color hair_colour
        handedness shoe_size ht wt bodyweight korpergrosse koerpergroesse ~grosse ~groesse gewicht korpergewicht
        ~taille poids altura ~peso estatura altezza ~lengte lichaamsgewicht lichaamslengte""",
    ),
    Meaning(
        "housing or property",
        "quasi-identifier",
        """home_ownership homeownership homeowner home_owner own_home house_owner own_house ~housing ~dwelling
        ~ownership ownrent renter landlord ~rent own_telephone ~telephone_line foreign_worker
        present_residence wohnform wohnsituation logement statut_occupation vivienda tenencia_vivienda
        abitazione woning woningtype habitacao moradia property cars vehicles num_cars car_ownership ~car
        own_car""",
    ),
    Meaning(
        "military service",
        "quasi-identifier",
        "veteran military ~mil army_service ever_served wehrdienst militaire servicio_militar",
    ),
    Meaning(
        "a date",
        "quasi-identifier",
        """~date ~datum ~fecha ~data ~dt ~year ~jahr ~annee ~ano ~anno ~jaar admission_date admitdate discharge_date
        hire_date hiredate visit_date date_of_death death_date dod diagnosis_date entry_date start_date
        end_date join_date joined admitted aufnahme aufnahmedatum entlassung entlassungsdatum eintritt
        eintrittsdatum todesdatum date_entree date_sortie date_deces date_admission fecha_ingreso fecha_alta
        fecha_defuncion data_ricovero data_dimissione data_assunzione opnamedatum ontslagdatum
        datum_in_dienst data_internamento data_admissao data_obito moved_in""",
    ),
    Meaning(
        CLASS_OR_ROOM,
        "quasi-identifier",
        "pclass passenger_class cabin ~deck ~seat ~room room_number bed_number kabine sitzplatz",
    ),
)

SENSITIVE = (
    Meaning(
        "health",
        "sensitive",
        """~inj injury_severity inj_sev ~sev severity asa asa_class asa_score cd4 cd8 cd4_count cd8_count ~hr sysbp
        diasbp sys_bp dia_bp special_needs special_need necessidade_especial necesidades_especiales besoins_particuliers
        foerderbedarf forderbedarf ziekmelding krankmeldung krankheitstage hospitalized hospitalised hospitalizado
        disease diseases diagnosis diagnoses diagnosed diag diag1 primary_diagnosis dx icd icd10 icd9 ~condition
        conditions illness disorder syndrome symptom symptoms cancer tumor tumour heart_disease hypertension diabetes
        diabetic asthma hiv aids depression anxiety mental mental_health psych infection infected covid covid19
        sars_cov_2 test_result pregnancy pregnancies pregnant birth_control birthcontrol contraception contraceptive
        abortion allergy allergies injury injuries surgery operation ~procedure treatment treated ~treat therapy
        medication medications medicine drug drugs drug_use ~dose prescription chest_pain angina bronch blood_pressure
        bloodpressure sbp dbp ~bp systolic diastolic trestbps glucose avg_glucose_level insulin blood_sugar
        fasting_blood_sugar cholesterol chol hdl ldl triglycerides hemoglobin haemoglobin hba1c a1c a1cresult creatinine
        bilirubin albumin platelet platelets alk_phos ejection_fraction viral_load ct_value ct_result cd4 psa bmi
        body_mass_index birth_weight birthweight bwt blood_type blood_group smoking smoker smoke smoked smokes
        smoking_status smokeintensity smokeyrs qsmk cigarettes cigs tobacco alcohol alcoholfreq drinking drinker dalc
        walc disability disabled handicap impairment genetic genotype mutation tumor_stage ~stage ascites hepato edema
        spiders comorbidity comorbidities health health_status genhlth genhealth menthlth physhlth general_health physlm
        disea hlthg hlthf hlthp ndisease mdvis ~visits doctor_visits dis dear deye ddrs dphy drem dout overweight obese
        obesity vaccinated vaccination vaccine headache weakness fever cough pain exercise_angina thalach oldpeak
        serum_creatinine anaemia anemia high_blood_pressure finding findings lab_result ~rx ~arm hospitalized
        hospitalization icu intubated ventilated readmitted diagnose diagnosen hauptdiagnose nebendiagnose krankheit
        erkrankung befund befunde symptome medikament medikamente behandlung therapie blutdruck raucher raucherin
        rauchen rauchstatus allergie allergien schwanger schwangerschaft behinderung schwerbehinderung impfung
        impfstatus gesundheit laborwert vorerkrankung vorerkrankungen maladie maladies diagnostic traitement medicament
        medicaments fumeur tabac grossesse enceinte antecedents sante pathologie enfermedad enfermedades diagnostico
        tratamiento medicamento sintoma sintomas embarazo embarazada discapacidad fumador fumadora tabaco salud
        patologia malattia malattie diagnosi trattamento farmaco farmaci terapia gravidanza disabilita fumatore salute
        ziekte ziekten aandoening behandeling medicatie zwanger roker rookt rookgedrag gezondheid doenca doencas
        tratamento gravidez gestante febre deficiencia fumante saude dor_cronica hipertensao hipertension ipertensione
        dementia parkinson alzheimer epilepsy autism adhd htn hyp hbp hbpmed chf mi cvd copd tb hcv hbv ckd stds ulcer
        gout stroke_history heart_attack chd angina_pectoris kidney kidney_disease liver lung lungs cardiac coronary
        vascular respiratory renal ~pulse heart_rate heartrate resp_rate oxygen oxygen_saturation spo2 wbc rbc
        hematocrit haematocrit lymphocytes neutrophils sodium potassium calcium urea bun crp ferritin lactate troponin
        tsh ~temp_c body_temperature sofa saps apache gcs apgar nyha ecog karnofsky birads gleason tnm ~grade_of_tumor
        metastasis metastases biopsy chemo chemotherapy radiotherapy radiation dialysis transplant transfusion implant
        ~dosage daily_dose steroid steroids antibiotic antibiotics antidepressant insulin_use opioid opioids cannabis
        marijuana cocaine heroin smk smkyrs smkstat nicotine vaping ecigarette binge suicide suicidal self_harm insomnia
        sleep_disorder sleep_quality wheelchair deaf blind hearing_loss visual_impairment fertility miscarriage
        menopause ~gravida ~parity gestation gestational_age breastfeeding visit_reason reason_for_visit
        reason_for_absence sick_days sick_leave krankheitstage krankenstand krankmeldung fehltage arzt_besuche
        arztbesuche blutzucker blutgruppe groesse_tumor pflegegrad sucht alkohol alkoholkonsum drogen alcool tabagisme
        arret_maladie consommation_alcool handicap_type vaccin vaccine_status hospitalisation groupe_sanguin alergia
        alergias vacuna vacunado fuma alcoholismo hospitalizado grupo_sanguineo allergia vaccino vaccinato
        fuma_sigarette ricovero_causa gruppo_sanguigno medicijnen medicijn ziekteverzuim bloedgroep allergieen
        vaccinatie alcoholgebruik alergias_pt vacina vacinado internacao comorbidade comorbidades pneumonia bronchitis
        sepsis influenza flu cold migraine arthritis osteoporosis anorexia bulimia schizophrenia bipolar psychosis
        addiction alcoholism hepatitis cirrhosis pancreatitis gastritis appendicitis colitis crohn psoriasis eczema
        dermatitis lupus sclerosis thrombosis embolism aneurysm arrhythmia fibrillation infarction ischemia
        cardiomyopathy heart_failure leukemia lymphoma melanoma carcinoma malignant malignancy benign lesion nodule
        lymph nodes node_count tumor_size hormone estrogen oestrogen progesterone receptor menopausal chronic acute
        immunosuppressed immunosuppression immune immunity malaria tuberculosis dengue zika measles syphilis gonorrhea
        chlamydia herpes hpv sti ebola neuropathy nephropathy retinopathy glaucoma cataract blindness deafness vision
        hearing mobility paralysis dyslexia nausea vomiting diarrhea dyspnea breathlessness fatigue dizziness seizure
        seizures rash swelling bleeding oxygen_therapy ventilator ventilation intubation intensive_care emergency_visit
        er_visits hospital_stay hospital_days days_in_hospital krankenhaustage
        admission_diagnosis discharge_diagnosis cause_of_death underlying_cause
        severity ~grav gravity ~prognosis accident accidents work_accident fall falls fracture trauma wound burn
        poisoning overdose neumonia ~gripe ~grippe asma asthme obesidad obesite obesitas fettleibigkeit ubergewicht
        uebergewicht adipositas diabete diabetico cancro krebs kanker tumore herzinfarkt schlaganfall infarto ictus avc
        herzkrankheit lungenentzundung pneumonie polmonite bronquitis bronchite epoc bpco dpoc hipertenso insuficiencia
        insuffisance niereninsuffizienz nierenversagen leberwert cirrosis cirrose inmunosupresion inmunosuprimido
        immunodepression imunossupressao tabaquismo tabagismo fumo fumar fumare roken alkoholiker alcoholico alcolico
        alcolismo drogue drogues drogas stupefiants estupefacientes stupefacenti drugs_gebruik drugsgebruik
        betaubungsmittel sobredosis uci ~uti terapia_intensiva cuidados_intensivos soins_intensifs reanimation
        intensivstation intubado intube ventilado hospitalizacion ricovero ricoverato opname ziekenhuisopname
        aufnahmegrund unfall unfalle unfaelle arbeitsunfall accidente accidentes infortunio infortuni ongeval acidente
        acidentes verletzung verletzungen blessure lesion_grave lesiones ferita letsel lesao gravedad gravite gravita
        gravidade schweregrad colesterol cholesterin colesterolo glucosa glicemia glycemie glucose_level blutwert
        blutwerte tension_arterial tension_arterielle pressione_arteriosa pressao_arterial bloeddruk azucar
        presion_arterial deficit cegueira surdez ceguera sordera cecita sordita blindheit taubheit gehorlos
        sehbehinderung visuelle auditive invalidite invalidez invalidita behindert handicape discapacitado deficiente
        autismo autismus dislexia dyslexie legasthenie foerderbedarf forderbedarf sonderpadagogisch special_needs
        special_education depresion depressao depressione depressie angst ansiedad ansia ansiedade angoisse psychisch
        psichico salud_mental sante_mentale saude_mental geestelijke_gezondheid suicidio selbstmord zelfmoord menarche
        menstruation ivf parto aborto avortement abtreibung schmerz schmerzen dolor douleur dolore pijn fieber fiebre
        fievre febbre koorts husten tos toux tosse hoest sintomatologia impfstoff vacunacion vaccination_covid medicina
        farmacos arzneimittel wirkstoff remede dosis dosierung posologie hormontherapie hormone_therapy chemotherapie
        quimioterapia chemioterapia bestrahlung radioterapia ~dm ~cad ~af ~pvd ~cva ~hf ~esrd ~hiv_status ~hgb ~hb ~plt
        ~alt ~ast ~alp ~ggt ~egfr ~hct ~mcv ~inr ~ldh ~tg fev1 fvc ecg ekg mri ct_scan xray echo lvef ef cpk
        serum_sodium serum ~dose_mg regimen ~cycle ~trt ~treatment_arm placebo hgb hct wbc rbc ast alt ldlc hdlc hs_crp
        crp esr ecg ekg bun egfr tsh sodium potassium calcium protein_level biomarker serum plasma tumor_grade
        tumour_grade histology cell_type celltype karnofsky karno ecog nyha apache sofa gcs apgar gestation
        gestational_age gestation_weeks prenatal premature preterm premie low_birth_weight lowbirthweight birthwt highbp
        high_bp hichol high_chol physlim chronic nchronic lchronic limitation limitations sleep_hours hours_sleep cesd
        ces_d beck bdi phq mcs pcs drinks_per_day avg_drinks max_drinks drugrisk sexrisk heroin cocaine marijuana
        cannabis substance substance_abuse overdose detox homeless homelessness physically_active strength_training
        ~insurance insured uninsured health_insurance medicaid medicare health_plan krankenkasse krankenversicherung
        mutuelle aseguradora phosphatase alkaline_phosphatase protein proteins globulin""",
    ),
    Meaning(
        OUTCOME,
        "sensitive",
        """outcome outcomes ~result ~results death died dead deceased mortality survived survival alive ~status ~event
        ~case uit_dienst uitdienst takeup take_up uptake
        censor censored recid recidivism recidivist two_year_recid is_recid is_violent_recid violent_recid attrition
        churn churned exited default defaulted loan_status default_payment ~target ~label ~y ~class_label ~response
        converted subscribed deposit ~left ~turnover relapse recurrence remission complication complications los
        length_of_stay lengthofstay time_in_hospital discharge_status disposition vital_status vitalstatus
        dead90 hospital_death
        death_event fustat ~fail dropout ~dropped ~approved approval loan_approved ~accepted admitted_to_college
        action_taken denied hired promoted promotion stroke fraud fraud_reported is_fraud claim_status ergebnis
        ergebnisse todesfall gestorben verstorben ~tod uberlebt ueberlebt kundigung kuendigung ausgang ~resultat
        resultats deces decede evolution_clinique resultado resultados fallecido fallecida muerte defuncion risultato
        risultati esito decesso deceduto morto uitkomst uitslag overleden overlijden obito desfecho evolucao morte
        abandono cancelled canceled is_canceled cancellation survivor survivors dth died_in_hospital hospital_mortality
        mortality_30d mortality_flag is_dead readmission readmit readmit_30 readmitted_30 no_show noshow show_up
        convicted_again reoffended reoffend rehospitalized quit quit_job resigned terminated layoff laid_off termination
        termination_reason reason_for_leaving leave_reason departure_reason fired retention retained passed ~pass failed
        failure dropped_out graduation graduated graduation_status completed completion_status admit ~admission_decision
        decision verdict_final won lost_to_follow_up withdrawal progression_free relapsed recovered recovery cured
        deterioration worsened responder non_responder delinquent delinquency bankruptcy charged_off repaid paid_back
        purchased clicked conversion kuendigungsgrund kundigungsgrund austrittsgrund abbruch bestanden durchgefallen
        genesen motif_depart demission licenciement abandon reussite echec desercion baja motivo_baja aprobado reprobado
        dimissione_esito licenziamento motivo_cessazione ontslag reden_vertrek geslaagd desligamento motivo_saida
        aprovado reprovado abandona abandono_escolar uitstroom vertrek vertrekt vertrokken uitval salida_voluntaria
        renuncia cessazione ~uscita saida_voluntaria bewilligt bewilligung ablehnung abgelehnt accorde refuse
        refuse_octroi judgment judgement ruling urteil jugement fallo_judicial sentenza vonnis julgamento evicted
        eviction concedido denegado respinto toegekend afgewezen deferido indeferido expire expired deceased_flag fatal
        fatality fatalities killed survived_flag ~cens ~relapse_free ~progressed progression delinq dlq late_payment
        past_due pastdue overdue days_late_payment missed_payment arrears nonpayment foreclosure write_off npl chargeoff
        claim claims claimed ~clm claim_count claim_frequency claim_occurred accident_claim lapse lapsed surrender
        cancelled_policy revoked revocation suspended suspension expelled expulsion truancy termination_date_reason
        left_company leaver leavers stay_or_leave voluntary_exit offboarding reincarcerated rearrested recommitment
        technical_violation violation violations infraction infractions pardoned acquitted dismissed_case
        released_on_bail sentence_length sentencing final_status final_result ~final_outcome classification
        clasificacion classificacao classificazione classificatie klassifikation einstufung dropout_flag
        enrolled_next_year retention_flag placed placement got_job job_offer offer_accepted employed_after schaden
        schaeden schadenzahl schadenfall schadenfaelle schadenhohe schadenhoehe sinistre sinistres siniestro siniestros
        sinistro sinistri schade schadeclaim schadebedrag reclamacion indemnisation indemnizacion indennizzo
        zahlungsverzug zahlungsausfall ruckstand rueckstand mahnung mahnungen inkasso insolvenz impaye impayes impago
        impagos morosidad moroso mora insolvenza inadempienza insoluto wanbetaling betalingsachterstand achterstand
        faillissement inadimplencia inadimplente atraso atraso_pagamento calote gekuendigt gekundigt kuendigt resilie
        resiliation cancelado cancelacion baja_voluntaria disdetta disdettato opgezegd opzegging cancelamento cancelou
        versetzt sitzengeblieben nichtversetzung redoublement redouble repite repetidor bocciato promosso zittengebleven
        reprovacao decrochage abandono_escolar abbrecher studienabbruch schulabbruch entlassen entlassungsgrund
        grund_austritt ausgeschieden fluktuation renvoi licencie despido despedido renuncia licenziato dimissioni
        ontslagen vertrokken demitido demissao rotatividade ruckfall rueckfall ruckfallig rueckfaellig recidive recidiva
        reincidencia reincidente recaida ricaduta terugval heilung guerison curacion guarigione genezing cura
        ueberlebenszeit uberlebenszeit survie sobrevida sopravvivenza supervivencia overleving verstorben_am
        fallecimiento falecimento falecido genehmigt abgelehnt bewilligt accorde refuse aprobacion rechazado approvato
        respinto goedgekeurd afgewezen rejeitado reject rejected rejection participation participates participate lfp
        labor_force_participation callback call_back called_back reemployed re_employed event_occurred event_indicator
        ~delta improved improvement""",
    ),
    Meaning(
        MONEY,
        "sensitive",
        """amount_owed owed bourse boursier boursiere becario bolsista dividend dividends interest_income pensions
        annuity loonschaal maandloon uurloon jaarloon salary salaries income incomes ~inc wage wages earnings earning
        hourly_rate daily_rate monthly_rate monthly_income monthlyincome annual_income household_income compensation
        bonus ~charges monthly_charges total_charges ~cost ~costs expense expenses expenditure ~amount balance debt
        debts ~loan loan_amount loan_amnt credit_amount credit_score credit_history creditworthiness credit_risk savings
        net_worth wealth assets pension ~benefits capital_gain capital_loss capitalgain capitalloss stock_option_level
        pay pay_rate percent_salary_hike bill_amt pay_amt limit_bal linc logc annual_inc dti income2 pincp pernp wagp
        hincp fincp indfmpir indhhin2 poverty medical_bills meddol premium annual_premium spending_score ~purchase ~fare
        re74 re75 re78 lwage mortgage grant_amount claim_amount total_claim_amount checking_account checking_status
        savings_status gehalt lohn einkommen verdienst schulden rente vermogen vermoegen nettoeinkommen bruttoeinkommen
        haushaltseinkommen salaire salaires revenu revenus dette dettes ~patrimoine sueldo salario ingresos ~renta deuda
        deudas stipendio reddito redditi retribuzione debito debiti salaris loon inkomen ~schuld schulden_bedrag
        vermogen_nl rendimento ~renda divida dividas vencimento ordenado ~cst chrg sal_annual base_salary basesalary
        salary_usd salary_in_usd hourly_wage wage_rate tips allowance stipend scholarship_amount payment payments
        amount_paid paid_amount monthly_payment installment credit_limit credit_card_debt total_debt revolving_balance
        spend spending ~price_paid purchase_amount money_spent income_group income_level income_bracket income_class
        incomegroup hhincome hh_income faminc fam_income familyincome family_income wealth_index windex ~welfare
        food_stamps public_assistance social_benefits child_support alimony tax taxes tax_paid refund monatsgehalt
        jahresgehalt stundenlohn bruttogehalt nettogehalt bruttolohn nettolohn kaufkraft kredit kreditsumme kontostand
        umsatz rechnungsbetrag kaltmiete warmmiete bruttoentgelt nettoentgelt tuition copay copayment deductible
        amount_due total_due
        prime remuneration ressources ~montant revenu_mensuel salaire_brut salaire_net sueldo_base ingreso
        ingreso_mensual ingreso_familiar prestamo saldo reddito_annuo mutuo saldo_conto uitkering spaargeld hypotheek
        bruto_loon netto_inkomen renda_familiar renda_mensal saldo_devedor emprestimo ~amt ~amnt payroll overtime_pay
        severance debt_ratio credit_line credit_lines open_credit loans utilization credit_utilization revolving equity
        investment investments portfolio deposits withdrawals donation donations home_value house_value property_value
        subsidy welfare_recipient medicaid_recipient benefit_amount out_of_pocket medical_expenses medical_cost
        treatment_cost insurance_charges premium_amount beitrag jahresbeitrag monatsbeitrag praemie versicherungsbeitrag
        pramie miete mietkosten kosten betrag ausgaben ersparnisse zulage sozialhilfe hartz burgergeld buergergeld
        wohngeld unterhalt steuer steuern cotisation loyer depenses epargne allocation allocations impot impots pret
        credit_immobilier aide_sociale cuota gasto gastos ahorro ahorros alquiler hipoteca impuesto impuestos subsidio
        pension_mensual nomina premio affitto spesa spese risparmi tassa tasse imposta sussidio prestito stipendio_lordo
        pensione premie huur uitgaven spaarrekening belasting toeslag bijstand lening pensioen premio_anual aluguel
        aluguer despesa despesas poupanca imposto impostos bolsa_familia beneficio prestacao renda_per_capita quintil
        quintile decile_income income_quintile income_decile""",
    ),
    Meaning(
        TIME_TO_EVENT,
        "sensitive",
        """futime fu_time follow_up followup follow_up_time followup_time follow_up_days follow_up_months
        surv_time survtime survival_time survival_months survival_days survivaltime time_to_event timetoevent
        tte time_to_death time_to_relapse time_to_recurrence time_to_progression time_to_failure
        time_to_treatment days_to_death days_to_relapse months_to_relapse event_time os_time os_months pfs
        pfs_time pfs_months dfs dfs_time rfs rfstime ttp ttr ttd ptime stime dtime rtime etime survt
        censoring_time exit_time time_in_study time_on_study ~time ~duration ~durat spell spell_length
        unemployment_duration length_of_unemployment weeks_unemployed time_in_program time_served uberlebenszeit
        ueberlebenszeit nachbeobachtung nachbeobachtungszeit beobachtungsdauer liegezeit liegedauer verweildauer
        krankheitsdauer
        arbeitslosigkeitsdauer ~dauer duree_survie duree_suivi temps_survie duree_sejour duree_chomage ~duree
        tiempo_supervivencia tiempo_seguimiento dias_estancia ~duracion tempo_sopravvivenza ~durata
        follow_up_mesi overlevingsduur ~duur tempo_sobrevida tempo_seguimento ~duracao""",
    ),
    Meaning(
        "beliefs, politics or sexuality",
        "sensitive",
        """religion religious relig faith church denomination politics political ~party partyid party_id polviews vote
        voted voting vote_choice ~union union_member unionized trade_union sexual_orientation orientation
        sexuality sexornt sex_partners sexual_partners num_sexual_partners first_sexual_intercourse
        ~ideology lgbt konfession religionszugehorigkeit religionszugehoerigkeit partei gewerkschaft
        wahlabsicht syndicat ~parti opinion_politique religione partito sindacato religie geloof kerk
        vakbond religiao partido sindicato orientacion_sexual affairs extramarital
        political_party political_affiliation party_affiliation pol_views polid voted_for vote_intention
        ~candidate ~ideology_score left_right leftright religiosity attends_church attend pray prays relig16
        caste gay lesbian bisexual transgender lgbtq ~trans hetero homosexuality sexfreq partners
        nb_partenaires kirchensteuer links_rechts parteineigung wahlverhalten vote_presidentielle croyance
        religion_pratiquee ideologia intencion_voto voto_intencion creencias orientamento_politico
        orientamento_sessuale stemgedrag partijvoorkeur partij politieke_voorkeur seksuele_geaardheid
        geaardheid opiniao_politica orientacao_sexual crenca
        trump biden brexit party_vote last_vote turnout political_interest ideology_left_right abortion_opinion
        gun_opinion god believes belief muslim christian jewish hindu buddhist atheist protestant
        catholic evangelical mosque temple glaube kirche kirchgang zweitstimme erststimme wahl sonntagsfrage
        wahlbeteiligung partei_wahl gewerkschaftsmitglied culte confession_religieuse croyant vote_legislatives
        syndique confesion iglesia catolico evangelico voto_pasado afiliacion_politica fede chiesa cattolico
        voto_politico tendenza_politica kerkelijkheid godsdienst stemkeuze verkiezingen fe igreja voto
        sexualidade sexualidad sessualita seksualiteit homosexuell homosexuel homosexual""",
    ),
    Meaning(
        "crime",
        "sensitive",
        """crime crimes criminal arrest arrests arrested conviction convictions convicted offense offence offenses
        ~charge charge_degree c_charge_degree c_charge_desc felony prior_arrests ~prior ~priors priors_count
        juv_fel_count juv_misd_count juv_other_count jail sentence prison incarcerated verdict decile_score
        score_text risk_of_recidivism violence ~victim ~weapon rearrest probation parole wrongdoing straftat
        straftaten delikt vorstrafe vorstrafen delit delits delito delitos reato reati delict misdrijf
        antecedentes offense_type offence_type offense_category crime_type charge_type charges_filed guilty
        plea bail bond_amount custody custody_status inmate recidivated reoffense prior_convictions
        prior_offenses prior_record criminal_record criminal_history gang gang_affiliated citation citation_issued
        contraband contraband_found search_conducted is_arrested arrest_made stop_outcome use_of_force
        domestic_violence abuse abused harassment speeding dui traffic_violation straffaellig haftstrafe
        condamnation peine casier_judiciaire condena pena condanna veroordeling condenacao strafblad
        arrest_count felonies misdemeanor misdemeanors misd charge_count detained detention detainee custody_days
        imprisonment prison_term prison_years supervision supervision_level electronic_monitoring offender offenders
        suspect suspected accused assault homicide murder theft robbery burglary rape sexual_assault weapon_used
        drug_test drug_tests revocations penalty_points license_points fine fines
        drunk_driving haft verurteilt verurteilung vorbestraft tatverdacht tatverdaechtig bewaehrung bewahrung
        bussgeld geldstrafe punkte_flensburg arrestation prison_ferme garde_a_vue amende infraction_penale detenu
        prevenu condamne arresto arrestos detenido detencion encarcelado carcel prision multa multas homicidio robo
        violencia victima agresor arrestato carcere detenuto multe omicidio furto violenza vittima aanhouding
        arrestatie gevangenis celstraf boete slachtoffer dader geweld preso prisao detido roubo
        violencia_domestica""",
    ),
    Meaning(
        "performance or opinion",
        "sensitive",
        """~score ~scores test_score exam exam_score exam_result ~grade ~grades gpa g1 g2 g3 final_grade ~mark ~marks
        performance performance_rating performancerating ~rating evaluation last_evaluation satisfaction
        job_satisfaction jobsatisfaction satisfaction_level environment_satisfaction environmentsatisfaction
        relationship_satisfaction relationshipsatisfaction work_life_balance worklifebalance job_involvement
        jobinvolvement iq math_score reading_score writing_score lsat ugpa failures happiness happy
        life_satisfaction stress stress_level absences absenteeism ~credit_rating ~risk risk_score noten
        ~note_finale leistung leistungsbewertung zufriedenheit satisfaccion rendimiento calificacion
        voto_finale voto_esame prestatie tevredenheid nota_final notas_finais
        satisfied engagement engagement_score engagement_survey wellbeing well_being burnout loneliness lonely
        trust motivation self_esteem personality neuroticism extraversion openness conscientiousness
        agreeableness cognition cognitive_score mmse phq9 phq_9 gad7 depression_score anxiety_score
        attendance attendance_rate warnings days_late days_late_last30 absence absence_days math_grade
        english_grade cgpa sat sat_score act_score gre gre_score toefl toefl_score percentile
        promedio media_voti durchschnittsnote gesamtnote abiturnote moyenne note_moyenne eindcijfer cijfer
        media_final nota_media gesund_zufr lebenszufriedenheit
        ~nota ~note englischnote schulnote zeugnis zeugnisnote endnote punktzahl notenschnitt
        note_exam note_examen notes_finales moyenne_generale bulletin calificaciones puntaje puntuacion puntos
        nota_matematica punteggio votazione giudizio rapportcijfer toetsscore
        cijferlijst pontuacao pontos desempenho rendimiento_academico fehlstunden fehlzeiten absences_injustifiees
        nb_absences faltas ausencias inasistencias assenze verzuim spijbelen absence_hours late_arrivals lateness
        tardiness missed_days absence_count disciplinary disciplinary_action warning_letters reprimand
        abmahnung abmahnungen avertissement sancion sanction ammonizione complaint complaints beschwerde beschwerden
        plainte quejas queja reclamo lamentela klacht klachten reclamacoes interfere job_stress
        workload fatigue_score mental_fatigue satisfaction_score nps opinions attitude attitudes zufrieden
        zufriedenheit_arbeit satisfait insatisfecho soddisfazione soddisfatto tevreden satisfacao satisfeito bien_etre
        bienestar benessere welzijn bem_estar gluck glueck felicidad bonheur felicita geluk felicidade stressniveau
        estres estresse vertrauen confianza confiance fiducia vertrouwen confianca talent potential_rating appraisal
        review_score peer_review ranking class_rank exam_passed exam_grade midterm final_exam quiz quiz_score
        homework_score test_scores reading_level verbal_score aptitude proficiency skill_level stanine
        hsgpa hs_gpa colgpa satv satm satq sat_verbal sat_math act_math act_score actmth verbal_sat math_sat
        lsat_score
        math maths mathe mathematics mathematik mathematiques matematica matematicas wiskunde algebra arithmetic reading
        writing spelling ~read ~write ~science ~sciences ~physics ~chemistry ~biology lecture_score lesen schreiben
        rechnen lecture_niveau lectura escritura lettura scrittura leitura escrita lezen rekenen
        ~mention degree_class degclass indice_punteggio
        beoordeling bewertung evaluacion valutazione avaliacao entretien
        approval_rating thermometer feeling_thermometer self_rated self_rating rated_by ~eval evaluations beauty looks
        attractiveness opinion_poll agree disagree""",
    ),
)

PLAIN = (
    Meaning(
        "weights or the design of a survey",
        "plain",
        """strat strata stratum psu cluster_id sampling_unit training_sample train_test train_set test_set holdout ~fold
        fnlwgt pwgtp wgtp perwt wtfa survey_weight sample_weight sampling_weight weight_final finalwt wtint2yr
        wtmec2yr sdmvpsu sdmvstra hhwt asecwt wtssall gewichtungsfaktor ponderation factor_expansion
        peso_campionario weegfactor peso_amostral""",
    ),
)

PLACES = (PLACE, "a country or nationality")
UNORDERED = (  # meanings whose codes have no order
    "sex",
    "postcode",
    "work",
    "race or origin",
    PLACE,
    "a country or nationality",
    "language",
    "marital status",
    PLACE_OF_LIFE,
    "housing or property",
    CLASS_OR_ROOM,
)
MEANINGS = (*IDENTIFIERS, *QUASI_IDENTIFIERS, *SENSITIVE, *PLAIN)

_PREPOSITIONS = "of at in by for since until before after when de du des del della di da do dos van von bei"
_FILLERS = """
    num number nr no n nb cnt count code cod cat category categ group grp band level lvl type kind value val var
    total tot avg mean max min current curr cur last first new old orig original raw clean final rec recode std log ln
    hh r resp respondent head hoh mother father parent mom dad maternal paternal child baby spouse wife husband
    applicant co borrower customer client patient person people employee emp worker student user member passenger
    subject participant household family home work main primary secondary other years year yrs yr months month days day
    my self own is has had ever was status x q d p i v cd desc flag ind bin imp imputed derived 1 2 3 4 5
    the and de la le el il lo der die das des du da do di van
    brutto netto gross net bruto neto lordo brut hosp prevalent incident anzahl nombre numero aantal tage
    amt amount pct percent perc share ratio sq squared lag pre post prev baseline bl followup wave t1 t2 yn
    monat monatlich monats maand maandelijks mensuel mensuelle mensual mensile mensal jahr jahres jaar annuel annuelle
    anual annuo annua
    jours giorni dias dagen stunden hours rate within history hist use used taking takes any past
    class classe clase klasse
    norm normed normalized standardized scaled adj adjusted centered cum cumulative sum index hx
"""
PREPOSITIONS, FILLERS = frozenset(_PREPOSITIONS.split()), frozenset(_FILLERS.split())
